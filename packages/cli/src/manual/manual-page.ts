/** What a command's manual says beyond its options: the rest follows from the command itself. */
export interface ManualPage {
  /** What one must know to use it well: paragraphs that follow its description. */
  readonly details?: readonly string[]
  /** What one wants to do, and the command that does it. The tests parse each of them. */
  readonly examples: readonly (readonly [purpose: string, command: string])[]
  /** Exit codes, where they say more than that it worked (0) or did not (1). */
  readonly exitCodes?: Readonly<Record<number, string>>
  /** Commands to read about next: `rollout status`. */
  readonly seeAlso: readonly string[]
}

/** Pages by the command's words: `rollout status`. */
export type ManualPages = Readonly<Record<string, ManualPage>>

/** The exit codes of a command that has no others. */
export const usualExitCodes: Readonly<Record<number, string>> = {
  0: 'it is done',
  1: 'it failed; standard error says why',
}
