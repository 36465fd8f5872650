import { step } from "../progress.mjs";
import { whyNoNetwork } from "../servers/cluster/network.mjs";
import { findOnPath } from "../servers/rabbitmq-program.mjs";
import { canInstall, installPackage } from "./apt-get.mjs";

/** What networks of their own are made with, where we may install it; where not, the tests that need it say so. */
export async function provideNetworkPrograms() {
  if (whyNoNetwork() === null || !canInstall() || findOnPath("ip") !== null) return;
  await step("Installing iproute2 by apt-get", () => installPackage("iproute2", "Install iproute2 yourself.")).catch(
    () => undefined,
  );
}
