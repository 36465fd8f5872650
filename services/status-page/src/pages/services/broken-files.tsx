import { type BrokenFile, placeText } from "@unacked/contracts";
import css from "./broken-files.module.css";

/** Files that a service could not load, with the lines around the mistake for those who may see them. */
export function BrokenFiles({ files }: { files: readonly BrokenFile[] }) {
  if (files.length === 0) return null;
  return (
    <ul className={css.files} aria-label="Files that it could not load">
      {files.map((file) => (
        <li key={`${file.file} ${file.problem}`} className={css.file}>
          <strong className={css.place}>{placeText(file)}</strong> {file.problem}
          {file.excerpt !== undefined && (
            // Focusable, as a long line scrolls.
            <pre className={css.excerpt} tabIndex={0} role="group" aria-label={`The lines around it, ${placeText(file)}`}>
              {file.excerpt}
            </pre>
          )}
        </li>
      ))}
    </ul>
  );
}
