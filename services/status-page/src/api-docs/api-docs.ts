import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";
import "swagger-ui-dist/swagger-ui.css";
import "../style/tokens.css";
import "./api-docs.css";

// Its dark colours hang on a class; which ones are chosen was decided before the first paint (public/color-scheme.js).
const root = document.documentElement;
root.classList.toggle("dark-mode", root.dataset["mantineColorScheme"] === "dark");

// The manager has put its base path there. No module is shared with the page for it: a chunk of both would bring the tokens before
// the styles that they are to outdo.
const file = document.querySelector<HTMLAnchorElement>(".docs-file");
if (file === null) throw new Error("api-docs.html does not name the document");

SwaggerUI({
  url: file.href,
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  // The manager says what it thinks of a request; a service on the web need not.
  validatorUrl: null,
});
