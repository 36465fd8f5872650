import { Agent, buildConnector } from "undici";
import { lookupPublic, refuseInnerAddress } from "../outbound/reach.ts";

const connect = buildConnector({ lookup: lookupPublic });

/** Makes a connection if it leads to a public address, else calls back with AddressRefused. */
export const connectPublic: buildConnector.connector = (options, callback) => {
  try {
    refuseInnerAddress(options.hostname);
  } catch (error) {
    return callback(error as Error, null);
  }
  connect(options, callback);
};

/** Connects to public addresses alone, whatever host a request names or a redirect leads to. */
export const publicAgent = new Agent({ connect: connectPublic });
