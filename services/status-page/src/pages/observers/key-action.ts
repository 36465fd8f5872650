export type KeyAction = { kind: "move"; to: number; extends: boolean } | { kind: "toggle" | "open" | "all" | "none" };

interface Key {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** What a key means in the list; null: nothing, the browser may have it. */
export function keyAction(
  { key, shiftKey, ctrlKey, metaKey, altKey }: Key,
  { activeIndex, count, page }: { activeIndex: number; count: number; page: number },
): KeyAction | null {
  const withCommand = ctrlKey || metaKey;
  if (withCommand && key.toLowerCase() === "a") return { kind: "all" };
  if (withCommand || altKey) return null;
  const move = (to: number): KeyAction => ({ kind: "move", to, extends: shiftKey });
  switch (key) {
    case "ArrowDown":
      return move(activeIndex + 1);
    case "ArrowUp":
      return move(activeIndex - 1);
    case "PageDown":
      return move(activeIndex + page);
    case "PageUp":
      return move(activeIndex - page);
    case "Home":
      return move(0);
    case "End":
      return move(count - 1);
    case " ":
      return { kind: "toggle" };
    case "Enter":
      return { kind: "open" };
    case "Escape":
      return { kind: "none" };
    default:
      return null;
  }
}
