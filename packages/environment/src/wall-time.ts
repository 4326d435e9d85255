/** What the host's clock says, in milliseconds since 1970: for what has no environment yet. All else asks the clock of its environment. */
export const wallTimeMs = (): number => Date.now()
