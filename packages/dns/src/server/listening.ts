/** Where a server listens. */
export interface ListensAt {
  readonly address: string
  /** 0: any that is free. */
  readonly port: number
}

/** A server that listens. */
export interface Listening {
  readonly port: number
  /** Gives the address back, and ends what is under way. */
  close(): void
}
