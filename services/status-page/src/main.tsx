import { createRoot } from "react-dom/client";
import { Live } from "./live/live.ts";
import { App } from "./shell/app.tsx";
import "./style/mantine.css";
import "./style/tokens.css";
import "./style/page.css";

const live = new Live();
live.start();

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
createRoot(root).render(<App live={live} />);
