/**
 * The answers to what was asked at once. Rejects with the first refusal in the order in which it was asked, once all are answered: in one
 * transaction, those behind it say only that it is aborted.
 */
export async function allInOrder<const Asked extends readonly unknown[]>(
  asked: Asked,
): Promise<{ -readonly [Key in keyof Asked]: Awaited<Asked[Key]> }> {
  const answers = await Promise.allSettled(asked);
  for (const answer of answers) if (answer.status === "rejected") throw answer.reason;
  return answers.map((answer) => (answer as PromiseFulfilledResult<unknown>).value) as {
    -readonly [Key in keyof Asked]: Awaited<Asked[Key]>;
  };
}
