import { hasReason } from '@coracle/api'

/** Whether a write was refused because its namespace is being deleted: everything in it goes, and nothing is to be made. */
export function isNamespaceGoing(error: unknown): boolean {
  if (!hasReason(error, 'Forbidden')) return false
  return error.status.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') === true
}
