export { default } from "../observers/wait.ts";
