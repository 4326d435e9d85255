import { compareText } from '../compare-text.ts'

/** `"a", "b"`. */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}

export function plural(one: string, many: string, { length }: readonly unknown[]): string {
  return length === 1 ? one : many
}

/** `container "a"`, `containers "a", "b"`. */
export function containersText(names: readonly string[]): string {
  return `${plural('container', 'containers', names)} ${quoted(names)}`
}

/** Who sets something: `pod and container "a"`; nobody where it is empty. */
export function settersText(isSetByPod: boolean, containers: readonly string[]): string {
  return [...(isSetByPod ? ['pod'] : []), ...(containers.length === 0 ? [] : [containersText(containers)])].join(
    ' and ',
  )
}

/** Each value once, in order. */
export function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort(compareText)
}
