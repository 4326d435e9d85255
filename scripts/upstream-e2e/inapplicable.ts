/** Specs of upstream's that do not apply to a cluster of simulated nodes, and why. The first pattern that fits a spec counts. */
export interface Inapplicable {
  readonly pattern: RegExp
  /** Of the specs that fit the pattern, those that do apply. */
  readonly except?: RegExp
  readonly reason: string
}

export const isLeftOutBy =
  (name: string) =>
  ({ pattern, except }: Inapplicable): boolean =>
    pattern.test(name) && except?.test(name) !== true
