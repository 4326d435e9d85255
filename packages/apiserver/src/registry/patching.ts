import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  FieldPath,
  hasReason,
  invalid,
  invalidField,
  type KubernetesObject,
  type ObjectSchema,
} from '@coracle/api'
import type { Patch } from '@coracle/client'
import type { DecodedBody } from './body.ts'

/** The object with a patch applied, not yet decoded. Throws upstream's errors where it does not apply. */
export function applyPatch(schema: ObjectSchema, object: KubernetesObject, { type, body }: Patch): unknown {
  switch (type) {
    case 'json':
      return applyJsonPatch(object, body)
    case 'merge':
      return applyMergePatch(object, body)
    case 'strategic':
      return applyStrategicMergePatch(schema, object, body)
  }
}

/** Decodes a patched object. What does not decode is the patch's fault: upstream answers 422 and names the field `patch`. */
export function decodePatched(patched: unknown, decode: (value: unknown) => DecodedBody): DecodedBody {
  try {
    return decode(patched)
  } catch (error) {
    if (!hasReason(error, 'BadRequest') || error.message.includes('strict decoding error')) throw error
    const why = error.message.replace(/^.* cannot be handled as a \w+: /, '')
    const errors = [invalidField(FieldPath.of('patch'), JSON.stringify(patched), why)]
    throw invalid({ group: '', kind: '' }, '', errors)
  }
}
