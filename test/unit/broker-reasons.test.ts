import { describe, expect, test } from "vitest";
import { redactUrl } from "../../libs/broker/src/index.ts";
import { lossReason } from "../../libs/broker/src/loss-reason.ts";

const closedBy = (code: number, name: string, text: string) =>
  new Error(`Channel closed by server: ${code} (${name}) with message "${text}"`);

describe("a loss reason", () => {
  test("takes the broker's own words out of the library's", () => {
    expect(
      lossReason(
        "connection-closed",
        closedBy(320, "CONNECTION-FORCED", "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'"),
      ),
    ).toEqual({
      kind: "connection-closed",
      detail: "320 CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'",
    });
  });

  test("recognises the acknowledgement timeout whatever it was first taken for, and says which setting ends it", () => {
    const text =
      "PRECONDITION_FAILED - delivery acknowledgement on channel 2 timed out. Timeout value used: 1800000 ms. This timeout value can be configured, see consumers doc guide to learn more";
    expect(lossReason("setup-failed", closedBy(406, "PRECONDITION-FAILED", text))).toEqual({
      kind: "consumer-timeout",
      detail: `406 ${text}`,
      remedy: expect.stringContaining("consumer_timeout = 315360000000"),
    });
  });

  test("leaves another 406 what it is", () => {
    expect(
      lossReason("channel-closed", closedBy(406, "PRECONDITION-FAILED", "PRECONDITION_FAILED - unknown delivery tag 7")),
    ).toEqual({
      kind: "channel-closed",
      detail: "406 PRECONDITION_FAILED - unknown delivery tag 7",
    });
  });

  test("says of a refused login that guest may come from the broker's own machine alone", () => {
    const text =
      "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.";
    const refused = new Error(`Handshake terminated by server: 403 (ACCESS-REFUSED) with message "${text}"`);
    const { remedy } = lossReason("connect-failed", refused);
    expect(remedy).toContain("Check user and password");
    expect(remedy).toContain("guest");
  });

  test("is one line, also of several addresses that all refused", () => {
    const refused = new AggregateError(
      [new Error("connect ECONNREFUSED ::1:5672"), new Error("connect ECONNREFUSED\n127.0.0.1:5672")],
      "",
    );
    const { detail, remedy } = lossReason("connect-failed", refused);
    expect(detail).toBe("connect ECONNREFUSED ::1:5672, connect ECONNREFUSED 127.0.0.1:5672");
    expect(remedy).toContain("Start RabbitMQ");
  });
});

describe("redactUrl()", () => {
  test.each([
    ["amqp://user:secret@host:5672/vhost", "amqp://user:***@host:5672/vhost"],
    ["amqps://user:s%2Fcret@host", "amqps://user:***@host"],
    ["amqp://host/?password=secret", "amqp://host/"],
    ["amqp://user@host", "amqp://user@host"],
    ["user:secret@host", "(not a URL)"],
    ["secret", "(not a URL)"],
  ])("%s is shown as %s", (url, shown) => {
    expect(redactUrl(url)).not.toContain("secret");
    expect(redactUrl(url)).toBe(shown);
  });
});
