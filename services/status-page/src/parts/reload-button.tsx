import { Button } from "@mantine/core";

/** Loads the whole page again, and its program with it: a newer one, or a proxy's way to sign in. */
export function ReloadButton() {
  return (
    <Button variant="default" size="compact-sm" onClick={() => location.reload()}>
      Reload
    </Button>
  );
}
