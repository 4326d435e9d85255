import type { Verb } from '../resource.ts'

/** What can be done with most resources. */
export const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]

/** Everything but deleting all of them at once. */
export const allVerbsButDeleteCollection: readonly Verb[] = allVerbs.filter((verb) => verb !== 'deletecollection')
