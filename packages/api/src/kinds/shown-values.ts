/**
 * Values as refusals show them: upstream checks types of its own, whose fields have the names that they have in Go, and are all there. Maps
 * are written in the order of their keys.
 */
import { compareText } from '../compare-text.ts'
import type { LabelSelector } from './core/common.ts'

/** A map in the order of its keys. */
export const shownMap = <T>(map: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => compareText(a, b)))

/** A selector is of a type that all versions share: its fields have the names of JSON. */
export const shownSelector = (selector: LabelSelector | undefined): unknown =>
  selector?.matchLabels === undefined ? selector : { ...selector, matchLabels: shownMap(selector.matchLabels) }

interface UpdateStrategy {
  readonly type?: string | undefined
  readonly rollingUpdate?:
    | { readonly maxUnavailable?: number | string | undefined; readonly maxSurge?: number | string | undefined }
    | undefined
}

/** How a Deployment or a DaemonSet brings in a new template. */
export const shownUpdateStrategy = ({ type = '', rollingUpdate }: UpdateStrategy): unknown => ({
  Type: type,
  RollingUpdate:
    rollingUpdate === undefined
      ? null
      : { MaxUnavailable: rollingUpdate.maxUnavailable ?? 0, MaxSurge: rollingUpdate.maxSurge ?? 0 },
})
