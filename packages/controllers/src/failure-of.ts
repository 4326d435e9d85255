/** What work failed with; undefined where it did not. */
export async function failureOf(work: Promise<unknown>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    return { error }
  }
}
