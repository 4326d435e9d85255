import { type Identity, identityText } from './identity.ts'

/** Owners remembered as gone, at most (upstream's number). One that is forgotten costs a read. */
export const absentOwnersMax = 500

/** Remembers owners that are known not to exist: what has a UID and is gone never comes back. */
export class AbsentOwners {
  readonly #identities = new Set<string>()

  add(identity: Identity): void {
    const text = identityText(identity)
    this.#identities.delete(text)
    this.#identities.add(text)
    if (this.#identities.size <= absentOwnersMax) return
    for (const oldest of this.#identities) {
      this.#identities.delete(oldest)
      return
    }
  }

  has(identity: Identity): boolean {
    return this.#identities.has(identityText(identity))
  }
}
