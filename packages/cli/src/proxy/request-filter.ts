/** What the proxy lets through: regular expressions, of which one has to match. */
export interface FilterRules {
  readonly acceptHosts: readonly RegExp[]
  readonly acceptPaths: readonly RegExp[]
  readonly rejectPaths: readonly RegExp[]
  readonly rejectMethods: readonly RegExp[]
}

export interface FilteredRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** As the `Host` header has it. */
  readonly host: string
}

/** Whether a request may pass: what is rejected comes before what is accepted (kubectl's rule). */
export function mayPass(rules: FilterRules, { method, path, host }: FilteredRequest): boolean {
  const matches = (patterns: readonly RegExp[], text: string) => patterns.some((pattern) => pattern.test(text))
  if (matches(rules.rejectPaths, path) || matches(rules.rejectMethods, method)) return false
  return matches(rules.acceptPaths, path) && matches(rules.acceptHosts, withoutPort(host))
}

/** `[::1]:8001` is `[::1]`. */
const withoutPort = (host: string): string => host.replace(/:\d+$/, '')
