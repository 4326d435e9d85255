/** The collections tests use, in the namespace `default`. */
export const paths = {
  configMaps: '/api/v1/namespaces/default/configmaps',
  pods: '/api/v1/namespaces/default/pods',
  controllers: '/api/v1/namespaces/default/replicationcontrollers',
} as const

export const configMap = (name: string, data: Readonly<Record<string, string>> = { a: '1' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

interface PodOptions {
  readonly labels?: Record<string, string>
  readonly spec?: Readonly<Record<string, unknown>>
  /** Fields of its container besides name, image and command. */
  readonly container?: Readonly<Record<string, unknown>>
}

/** A pod of one container, `main`, which runs `command`. Containers of the process runtime need one. */
export const pod = (name: string, command?: readonly string[], options: PodOptions = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...(options.labels === undefined ? {} : { labels: options.labels }) },
  spec: podSpec(command, options),
})

/** A controller of `replicas` such pods, labelled and selected by `app: NAME`. */
export const controller = (
  name: string,
  replicas: number,
  command?: readonly string[],
  options: Omit<PodOptions, 'labels'> = {},
) => ({
  apiVersion: 'v1',
  kind: 'ReplicationController',
  metadata: { name },
  spec: {
    replicas,
    selector: { app: name },
    template: { metadata: { labels: { app: name } }, spec: podSpec(command, options) },
  },
})

const podSpec = (command: readonly string[] | undefined, { spec = {}, container = {} }: PodOptions) => ({
  containers: [
    { name: 'main', image: 'example/main', ...(command === undefined ? {} : { command: [...command] }), ...container },
  ],
  ...spec,
})
