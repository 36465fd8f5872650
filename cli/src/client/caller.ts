import type { AnswerOf, CallInput, CallName } from "@unacked/contracts";

/** Makes calls of the REST API, as UnackedApi does. */
export interface Caller {
  call<Name extends CallName>(name: Name, input: CallInput<Name>): Promise<AnswerOf<Name>>;
}
