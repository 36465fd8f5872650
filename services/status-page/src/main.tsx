import { createRoot } from "react-dom/client";
import { Session } from "./live/session.ts";
import { App } from "./shell/app.tsx";
import { keepFocus } from "./shell/keep-focus.ts";
import "./style/mantine.css";
import "./style/tokens.css";
import "./style/page.css";

const session = new Session();
session.start();

keepFocus();
const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(<App session={session} />);
