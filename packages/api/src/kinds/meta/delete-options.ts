import { atomicList, boolean, int64, object, optional, pointer, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { metaV1 } from './names.ts'

export interface Preconditions extends Infer<typeof preconditions> {}
export const preconditions = object(
  `${metaV1}.Preconditions`,
  'What must hold of an object, or the request fails with a conflict.',
  {
    uid: pointer(string(), 'The UID it must have.'),
    resourceVersion: pointer(string(), 'The version it must have.'),
  },
)

/** How something is to be deleted. */
export interface DeleteOptions extends Infer<typeof deleteOptionsSchema> {}
export const deleteOptionsSchema = object(`${metaV1}.DeleteOptions`, 'How an object is to be deleted.', {
  apiVersion: optional(string(), 'Version of the schema these options are written in.'),
  kind: optional(string(), 'DeleteOptions.'),
  gracePeriodSeconds: pointer(
    int64(),
    'Seconds the object has to end gracefully. 0 is at once; the kind decides unless set.',
  ),
  preconditions: optional(preconditions, 'What must hold, or nothing is deleted.'),
  orphanDependents: pointer(boolean, 'Whether dependents are left alone; the older way to say Orphan.', {
    deprecated: 'use propagationPolicy instead',
  }),
  propagationPolicy: pointer(
    string(),
    'What becomes of dependents: Background deletes them afterwards, Foreground first, Orphan leaves them alone.',
  ),
  dryRun: optional(atomicList(string()), 'With All, everything is checked and nothing is stored.'),
  ignoreStoreReadErrorWithClusterBreakingPotential: pointer(
    boolean,
    'Whether an object is deleted even if what is stored of it can no longer be read.',
  ),
})
