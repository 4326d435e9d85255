import { controllerRevisions } from '@coracle/api'
import { type Action, adoption } from '@coracle/controller-runtime'
import { podClaimActions } from '../pods/claims.ts'
import type { Belongings, SelectingOwner } from './belongings.ts'

/** Takes in what matches an owner's selector and is nobody's, and lets go of pods that no longer match. */
export function claimActions(
  owner: SelectingOwner,
  { orphans, mismatched, orphanRevisions }: Pick<Belongings, 'orphans' | 'mismatched' | 'orphanRevisions'>,
): readonly Action[] {
  return [
    ...podClaimActions(owner, { orphans, mismatched }),
    ...orphanRevisions.map((revision) =>
      adoption(controllerRevisions, owner, revision, 'the revision matches the selector and is nobody’s'),
    ),
  ]
}
