/** A word that may stand there, and what it means. */
export interface Candidate {
  readonly word: string
  readonly description?: string
}

/** Candidates, and what a shell does beside offering them. */
export interface Completion {
  readonly candidates: readonly Candidate[]
  /** File names may stand there. */
  readonly files?: boolean
}

/** More than these are of no use to anybody who chooses. */
export const candidatesMax = 500
