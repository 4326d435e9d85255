import { controllerRevisions, pods } from '@coracle/api'
import { type Action, adoption, release } from '@coracle/controller-runtime'
import type { Belongings, SelectingOwner } from './belongings.ts'

/** Takes in what matches an owner's selector and is nobody's, and lets go of pods that no longer match. */
export function claimActions(
  owner: SelectingOwner,
  { orphans, mismatched, orphanRevisions }: Pick<Belongings, 'orphans' | 'mismatched' | 'orphanRevisions'>,
): readonly Action[] {
  return [
    ...mismatched.map((pod) => release(pods, owner, pod, 'the pod’s labels no longer match the selector')),
    ...orphans.map((pod) => adoption(pods, owner, pod, 'the pod matches the selector and is nobody’s')),
    ...orphanRevisions.map((revision) =>
      adoption(controllerRevisions, owner, revision, 'the revision matches the selector and is nobody’s'),
    ),
  ]
}
