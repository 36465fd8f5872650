import type { BrokenFile } from "@unacked/contracts";
import css from "./broken-files.module.css";

/** Files that a service could not load, with the lines around the mistake for those who may see them. */
export function BrokenFiles({ files }: { files: readonly BrokenFile[] }) {
  if (files.length === 0) return null;
  return (
    <ul className={css.files} aria-label="Files that it could not load">
      {files.map((file) => (
        <li key={`${file.file} ${file.problem}`} className={css.file}>
          <strong className={css.place}>{placeOf(file)}</strong> {file.problem}
          {file.excerpt !== undefined && (
            // Focusable, as a long line scrolls.
            <pre className={css.excerpt} tabIndex={0} role="group" aria-label={`The lines around it, ${placeOf(file)}`}>
              {file.excerpt}
            </pre>
          )}
        </li>
      ))}
    </ul>
  );
}

const placeOf = ({ file, place }: BrokenFile): string =>
  place === undefined ? file : `${place.file}:${place.line}:${place.column}`;
