/** What of it is used here (https://swagger.io/docs/open-source-tools/swagger-ui/usage/configuration/); the package brings no types. */
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  interface Options {
    url: string;
    dom_id: string;
    deepLinking?: boolean;
    docExpansion?: "list" | "full" | "none";
    defaultModelsExpandDepth?: number;
    displayRequestDuration?: boolean;
    /** Null: asks nobody. */
    validatorUrl?: string | null;
  }
  export default function SwaggerUI(options: Options): unknown;
}
