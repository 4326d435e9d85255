import {
  isFields,
  type KubeconfigDocument,
  type KubeconfigFields,
  type KubeconfigList,
  kubeconfigLists,
} from '@coracle/client'

/** What a field of a kubeconfig holds. */
export type FieldType = 'text' | 'truth' | 'bytes' | 'list' | FieldTypes
export interface FieldTypes {
  readonly [name: string]: FieldType
}

const exec: FieldTypes = {
  command: 'text',
  args: 'list',
  env: 'list',
  apiVersion: 'text',
  installHint: 'text',
  provideClusterInfo: 'truth',
  interactiveMode: 'text',
}

/** The fields of an entry, in the order in which kubectl prints them as JSON (client-go's clientcmd/api/v1). */
export const entryFields: Readonly<Record<KubeconfigList, FieldTypes>> = {
  clusters: {
    server: 'text',
    'tls-server-name': 'text',
    'insecure-skip-tls-verify': 'truth',
    'certificate-authority': 'text',
    'certificate-authority-data': 'bytes',
    'proxy-url': 'text',
    'disable-compression': 'truth',
  },
  users: {
    'client-certificate': 'text',
    'client-certificate-data': 'bytes',
    'client-key': 'text',
    'client-key-data': 'bytes',
    token: 'text',
    tokenFile: 'text',
    as: 'text',
    'as-uid': 'text',
    'as-groups': 'list',
    'as-user-extra': {},
    username: 'text',
    password: 'text',
    'auth-provider': { name: 'text', config: {} },
    exec,
  },
  contexts: { cluster: 'text', user: 'text', namespace: 'text' },
}

/** Fields that are there even where they say nothing. */
const requiredFields: Readonly<Record<KubeconfigList, KubeconfigFields>> = {
  clusters: { server: '' },
  users: {},
  contexts: { cluster: '', user: '' },
}

/** A kubeconfig as a value to print or to write, its members in kubectl's order and its entries by name. */
export function kubeconfigValue({ currentContext = '', others, ...lists }: KubeconfigDocument): KubeconfigFields {
  const { preferences, ...rest } = others
  const isPreferred = isFields(preferences) && Object.keys(preferences).length > 0
  const listOf = (list: KubeconfigList) => {
    const entries = [...lists[list]].sort(([a], [b]) => (a < b ? -1 : 1))
    // An empty list is what Go makes of none.
    return entries.length === 0 ? null : entries.map(([name, { fields }]) => entryValue(list, name, fields))
  }
  return {
    kind: 'Config',
    apiVersion: 'v1',
    ...(isPreferred ? { preferences } : {}),
    clusters: listOf('clusters'),
    users: listOf('users'),
    contexts: listOf('contexts'),
    'current-context': currentContext,
    ...rest,
  }
}

function entryValue(list: KubeconfigList, name: string, fields: KubeconfigFields): KubeconfigFields {
  const written = { ...requiredFields[list], ...fields }
  const plugin = written.exec
  const complete = isFields(plugin)
    ? { ...written, exec: ordered({ args: null, env: null, provideClusterInfo: false, ...plugin }, exec) }
    : written
  return { name, [kubeconfigLists[list]]: ordered(complete, entryFields[list]) }
}

/** The same members: those that are known in their order, then the others. What says nothing and is not required goes. */
function ordered(fields: KubeconfigFields, types: FieldTypes): KubeconfigFields {
  const names = [...Object.keys(types), ...Object.keys(fields)]
  return Object.fromEntries(
    [...new Set(names)].filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  )
}
