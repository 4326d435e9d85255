/** Names of services, for processes that cannot ask a server of names. */
export interface ServiceNames {
  /** Lines of a hosts file for pods of a namespace, by what is known now. */
  lines(namespace: string): string
  /** Calls back when lines have changed. Returns the way to end that. */
  subscribe(listener: () => void): () => void
}

/** Resolves when the services there are are known. Called when a pod is to know them: what follows them need not before. */
export type OpenServiceNames = () => Promise<ServiceNames>
