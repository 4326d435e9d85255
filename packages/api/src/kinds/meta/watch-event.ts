import { anyObject, object, required, string } from '../../schema/builders.ts'
import { metaV1 } from './names.ts'

export const rawExtension = anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension', 'An object of any kind.')

/** One line of a watch. */
export const watchEventSchema = object(`${metaV1}.WatchEvent`, 'One change, as a watch reports it.', {
  type: required(string(), 'ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.'),
  object: required(rawExtension, 'The object after the change (before it for DELETED), or a Status for ERROR.'),
})
