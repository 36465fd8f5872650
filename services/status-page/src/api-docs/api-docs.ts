import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";
import "swagger-ui-dist/swagger-ui.css";
import "../style/tokens.css";
import "./api-docs.css";

// Its dark colours hang on a class; which ones are chosen was decided before the first paint (public/color-scheme.js).
const root = document.documentElement;
root.classList.toggle("dark-mode", root.dataset["mantineColorScheme"] === "dark");

SwaggerUI({
  url: "/api/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  // The manager says what it thinks of a request; a service on the web need not.
  validatorUrl: null,
});
