import { type Namespace, namespaceFinalizer } from '@coracle/api'

/** Whether a namespace is being deleted and waits for its content to go. */
export function isAwaitingContent({ metadata, spec }: Namespace): boolean {
  return metadata.deletionTimestamp !== undefined && spec?.finalizers?.includes(namespaceFinalizer) === true
}
