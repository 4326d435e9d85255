import { deepEqual } from '../../../equality.ts'
import { type FieldError, forbiddenField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { describeChanges } from '../../changes-text.ts'
import type { Pod } from './pod-schema.ts'
import { validatePod } from './pod-validation.ts'
import { mirrorAnnotation } from './validation/annotations.ts'

/** The pod with the ephemeral containers of another: all that `pods/ephemeralcontainers` changes. */
export function withEphemeralContainers(pod: Pod, { spec: { ephemeralContainers } }: Pod): Pod {
  return { ...pod, spec: { ...pod.spec, ephemeralContainers } }
}

/** What a change of ephemeral containers may not do (core/validation ValidatePodEphemeralContainersUpdate): they are only added to. */
export function validateEphemeralContainersUpdate(pod: Pod, old: Pod): readonly FieldError[] {
  if (old.metadata.annotations?.[mirrorAnnotation] !== undefined) {
    return [forbiddenField(FieldPath.root.key(''), 'static pods do not support ephemeral containers')]
  }
  const path = FieldPath.of('spec', 'ephemeralContainers')
  const present = new Map((pod.spec.ephemeralContainers ?? []).map((each) => [each.name, each]))
  const changes = (old.spec.ephemeralContainers ?? []).flatMap((before) => {
    const after = present.get(before.name)
    const subject = `existing ephemeral containers ${JSON.stringify(before.name)}`
    if (after === undefined) return [forbiddenField(path, `${subject} may not be removed\n`)]
    if (deepEqual(before, after)) return []
    return [forbiddenField(path, [`${subject} may not be changed`, ...describeChanges(before, after)].join('\n'))]
  })
  return [...validatePod(pod), ...changes]
}
