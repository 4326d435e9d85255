import { causesGroup, causesPlural, causesVersion } from '@coracle/api'
import type { ListedResource } from './discovery.ts'
import type { ResourceRoute } from './routes.ts'

/** The causal record as discovery lists it. It is read, and written only with other things: it is no kind. */
export const causes: ListedResource = {
  group: causesGroup,
  version: causesVersion,
  kind: 'Cause',
  plural: causesPlural,
  singular: 'cause',
  shortNames: [],
  categories: [],
  namespaced: false,
  verbs: ['get', 'list'],
  hasStatus: false,
  subresources: {},
}

/** Whether a route leads to the causal record: `/apis/coracle.dev/v1/causes`, or `…/causes/<revision>`. */
export const isCausesRoute = ({ group, version, plural }: ResourceRoute): boolean =>
  group === causesGroup && version === causesVersion && plural === causesPlural
