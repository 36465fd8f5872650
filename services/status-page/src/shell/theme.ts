import { createTheme, Modal } from "@mantine/core";

export const theme = createTheme({
  primaryColor: "teal",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    // What locks the page's scroll injects a style tag, which the Content-Security-Policy forbids; an overlay covers it anyway.
    // Within main, its header is none of the page. A click beside it is a slip: it would take what was typed there.
    Modal: Modal.extend({
      defaultProps: {
        closeOnClickOutside: false,
        lockScroll: false,
        portalProps: { target: "#main" },
        centered: false,
        transitionProps: { duration: 120 },
      },
    }),
  },
});
