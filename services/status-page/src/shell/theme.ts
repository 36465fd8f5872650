import { createTheme, Modal } from "@mantine/core";

export const theme = createTheme({
  primaryColor: "teal",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    // What locks the page's scroll injects a style tag, which the Content-Security-Policy forbids; an overlay covers it anyway.
    // Within main, its header is none of the page.
    Modal: Modal.extend({
      defaultProps: {
        lockScroll: false,
        portalProps: { target: "#main" },
        centered: false,
        transitionProps: { duration: 120 },
      },
    }),
  },
});
