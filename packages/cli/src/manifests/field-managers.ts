/** Who applies, for field ownership: kubectl's name, since both do the same and one may take over from the other. */
export const applyFieldManager = 'kubectl-client-side-apply'

/** Who applies where the server merges, unless said: kubectl's name again, for which the server takes over what clients applied. */
export const serverSideFieldManager = 'kubectl'
