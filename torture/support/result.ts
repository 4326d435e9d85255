/** What a part of the torture has to show: a row of the table. */
export interface Result {
  readonly what: string
  /** What was done and measured, for people. */
  readonly figures: string
  /** What is lost, wrong or too slow; empty where all is well. */
  readonly problems: readonly string[]
}
