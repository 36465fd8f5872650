import css from "./key-hints.module.css";

const KEYS = [
  ["/", "search"],
  ["↑ ↓", "move"],
  ["Space", "choose"],
  ["Shift ↑ ↓", "choose a range"],
  ["Ctrl A", "all"],
  ["Enter", "open"],
  ["Esc", "none"],
];

export function KeyHints() {
  return (
    <p className={css.hints}>
      {KEYS.map(([key, meaning]) => (
        <span key={key}>
          <kbd>{key}</kbd> {meaning}
        </span>
      ))}
    </p>
  );
}
