const WHILE_HIDDEN_MS = 1_000;

/** Calls `work` once before the next frame, however often it is asked to; a hidden page has no frames, and gets a slow beat. */
export function oncePerFrame(work: () => void): () => void {
  let isAsked = false;
  const run = () => {
    if (!isAsked) return;
    isAsked = false;
    work();
  };
  return () => {
    if (isAsked) return;
    isAsked = true;
    if (document.hidden) setTimeout(run, WHILE_HIDDEN_MS);
    else {
      requestAnimationFrame(run);
      setTimeout(run, WHILE_HIDDEN_MS); // hidden before the frame came
    }
  };
}
