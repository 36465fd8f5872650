import { Button } from "@mantine/core";
import { useRef, useState } from "react";
import css from "./stack.module.css";

interface Props {
  /** The first line of what is copied: what was thrown. */
  of: string;
  /** One position a line, the innermost first; missing for those who may not see it, and where none is known. */
  stack: string | undefined;
}

/** Where an error was thrown, for those who ask. */
export function Stack({ of, stack }: Props) {
  const text = useRef<HTMLPreElement>(null);
  const [isCopied, setCopied] = useState(false);
  if (stack === undefined) return null;
  const copy = async () => setCopied(await copyText(`${of}\n${stack}`, text.current));
  return (
    <details className={css.stack} onToggle={() => setCopied(false)}>
      <summary className={css.summary}>Stack</summary>
      <div className={css.body}>
        <Button className={css.copy} size="compact-xs" variant="default" onClick={() => void copy()}>
          <span aria-live="polite">{isCopied ? "Copied" : "Copy"}</span>
        </Button>
        {/* Focusable, as a long one scrolls. */}
        <pre ref={text} className={css.text} tabIndex={0} role="group" aria-label="Stack">
          {stack}
        </pre>
      </div>
    </details>
  );
}

/** Without TLS the browser gives no clipboard; then what is seen is chosen, and copied as by the keyboard. */
async function copyText(text: string, shown: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (shown === null) return false;
    getSelection()?.selectAllChildren(shown);
    return document.execCommand("copy");
  }
}
