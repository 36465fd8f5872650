import { Checkbox, TextInput } from "@mantine/core";
import { type FormEvent, useRef, useState } from "react";
import { BusyButton } from "../../parts/busy-button.tsx";
import { CallError } from "../../wire/call.ts";
import css from "./sign-in.module.css";

interface Props {
  /** Whether somebody was signed in here until now. */
  hasEnded: boolean;
  /** Rejects with CallError. */
  onSignIn: (token: string) => Promise<void>;
}

/** Asks for a token. It leaves this page in one call, and is not kept in it. */
export default function SignIn({ hasEnded, onSignIn }: Props) {
  const [token, setToken] = useState("");
  const [isShown, setShown] = useState(false);
  const [mistake, setMistake] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);

  const refuse = (text: string) => {
    setMistake(text);
    field.current?.focus();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const given = token.trim();
    if (given === "") return refuse("Give a token");
    setBusy(true);
    setMistake(null);
    try {
      await onSignIn(given);
    } catch (error) {
      setBusy(false);
      refuse(sayRefusal(error));
    }
  };

  return (
    <section className={`panel ${css.card}`} aria-labelledby="sign-in">
      <h1 id="sign-in">Sign in</h1>
      <p className={css.why} role={hasEnded ? "status" : undefined}>
        {hasEnded
          ? "Your session has ended: its token has expired or was taken back. Nothing else has changed; observers run on."
          : "This manager asks who you are."}
      </p>
      <form className={css.form} noValidate onSubmit={(event) => void submit(event)}>
        <TextInput
          ref={field}
          label="Token"
          type={isShown ? "text" : "password"}
          name="token"
          autoComplete="current-password"
          autoCapitalize="off"
          spellCheck={false}
          autoFocus
          aria-required
          value={token}
          error={mistake}
          errorProps={{ role: "alert" }}
          onChange={(event) => setToken(event.currentTarget.value)}
        />
        <Checkbox label="Show it" checked={isShown} onChange={(event) => setShown(event.currentTarget.checked)} />
        <BusyButton type="submit" isBusy={isBusy} fullWidth>
          Sign in
        </BusyButton>
      </form>
      <p className={css.hint}>
        The operator of the manager makes one: <code>unacked token create NAME --role viewer</code>. It is kept in a cookie
        that no script can read, for 12 hours at most.
      </p>
    </section>
  );
}

function sayRefusal(error: unknown): string {
  if (!(error instanceof CallError)) return String(error);
  const { code, message, remedy, retryAfterS } = error;
  if (code === "too-many-requests") return `Too many wrong tokens came from your address. Try again in ${retryAfterS} s`;
  if (code === "unauthorized") return message;
  return code === "invalid-body" ? message : `${message}. ${remedy}`;
}
