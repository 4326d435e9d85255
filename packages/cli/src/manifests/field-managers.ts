// Field managers name what somebody does, and not the program it is done with: objects are handled by coracle and kubectl alike, and each goes
// on where the other left off. Hence these names are kubectl's. Which program it was is in the User-Agent of the request.

/** Who writes with a command that names itself, `kubectl-edit`, unless `--field-manager` says otherwise. */
export const fieldManagerOf = (command: string): string => `kubectl-${command}`

/** Who writes with other commands: `scale`, `cordon`. */
export const plainFieldManager = 'kubectl'

/** Who applies where the client merges. */
export const applyFieldManager = fieldManagerOf('client-side-apply')

/** Who applies where the server merges. For this name the server keeps the annotation of what clients applied up to date. */
export const serverSideFieldManager = plainFieldManager

/** Who keeps the annotation of what clients applied where the server merges now. */
export const lastAppliedFieldManager = fieldManagerOf('last-applied')
