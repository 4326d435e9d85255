import * as api from '@coracle/api'
import * as runtime from '@coracle/controller-runtime'

const { object, required, optional, defaulted, string, int32, mapList } = api

/** The kind: from this follow its type, its CustomResourceDefinition, and how clients address it. */
export const website = runtime.customKind({
  group: 'example.com',
  kind: 'Website',
  doc: 'A website and the servers behind it.',
  shortNames: ['site'],
  versions: {
    v1: {
      fields: {
        spec: required(
          object('', 'What is wanted.', {
            host: required(string({ format: 'dns1123-subdomain' }), 'Where people reach it.', { immutable: true }),
            image: required(string({ minLength: 1 }), 'The image of its servers.'),
            replicas: defaulted(int32({ minimum: 0, maximum: 100 }), 'How many servers it has.', 1),
          }),
          'What is wanted.',
        ),
        status: optional(
          object('', 'How it stands.', { conditions: optional(mapList(api.condition, ['type']), 'Its aspects.') }),
          'How it stands.',
        ),
      },
      columns: [
        { name: 'Host', type: 'string', jsonPath: '.spec.host' },
        { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      ],
    },
  },
})
export const websites = website.versions.v1
export type Website = runtime.ObjectOf<typeof websites>

/** What to do about a site, from what is there. Pure: its test is a table. */
export function planWebsite(
  { metadata, status, ...site }: Website,
  deployment: api.Deployment | undefined,
  nowMs: number,
): runtime.Plan<NonNullable<Website['status']>> {
  const { name = '', namespace = '', generation } = metadata
  const { image, replicas } = site.spec
  const labels = { website: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } }
  const actions: runtime.Action[] = []
  if (deployment === undefined) {
    const ownerReferences = [runtime.controllerRef({ ...site, metadata })]
    const spec = { replicas, selector: { matchLabels: labels }, template }
    const made = runtime.newObject(api.deployments, { metadata: { name, namespace, ownerReferences }, spec })
    const events = { succeeded: { reason: 'Deployed', message: 'Created deployment {name}' } }
    actions.push({
      type: 'create',
      resource: api.deployments,
      object: made,
      because: 'the site has no servers',
      events,
    })
  } else if (deployment.spec.replicas !== replicas || deployment.spec.template.spec?.containers[0]?.image !== image) {
    const patch = { type: 'strategic', body: { spec: { replicas, template } } } as const
    actions.push({
      type: 'patch',
      resource: api.deployments,
      key: { namespace, name },
      patch,
      because: 'the site changed',
    })
  }
  const ready = deployment?.status?.readyReplicas ?? 0
  const isReady = actions.length === 0 && ready >= replicas
  const condition = {
    type: 'Ready',
    status: isReady ? 'True' : 'False',
    reason: isReady ? 'AllServersReady' : 'ServersNotReady',
    message: `${ready} of ${replicas} servers are ready`,
    observedGeneration: generation,
  }
  return { actions, status: { conditions: runtime.setCondition(status?.conditions, condition, nowMs) } }
}

/** Which host belongs to which site, in a ConfigMap that all sites of a namespace share: nobody owns it, so we clean up. */
const finalizer = 'example.com/hosts'

export const websiteController = runtime
  .controller('website')
  .for(websites)
  .owns(api.deployments)
  .reconcile(async ({ object }, context) => {
    if (object === undefined) return
    if (runtime.isBeingDeleted(object)) {
      if (runtime.hasFinalizer(object, finalizer)) await noteHost(object, undefined)
      await runtime.removeFinalizer(context.client, websites, object, finalizer)
      return
    }
    const site = await runtime.addFinalizer(context.client, websites, object, finalizer)
    await noteHost(site, site.metadata.name)
    const [deployment] = context.owned(api.deployments)
    return runtime.performPlan(context, site, planWebsite(site, deployment, context.clock.now()))

    function noteHost({ metadata: { namespace = '' }, spec: { host } }: Website, name: string | undefined) {
      const initial = runtime.newObject(api.configMaps, { metadata: { namespace, name: 'hosts' } })
      const change = (hosts: api.ConfigMap): api.ConfigMap => {
        const { [host]: _, ...others } = hosts.data ?? {}
        return { ...hosts, data: name === undefined ? others : { ...others, [host]: name } }
      }
      return runtime.createOrPatch(context.client, api.configMaps, { initial, change })
    }
  })
