import * as api from '@coracle/api'
import * as runtime from '@coracle/controller-runtime'

const spec = api.object('', 'What is wanted.', {
  host: api.required(api.string({ format: 'dns1123-subdomain' }), 'Where people reach it.', { immutable: true }),
  image: api.required(api.string({ minLength: 1 }), 'The image of its servers.'),
  replicas: api.defaulted(api.int32({ minimum: 0 }), 'How many servers it has.', 1),
})
const status = api.object('', 'How it stands.', { conditions: api.optional(api.mapList(api.condition, ['type']), '') })
const fields = { spec: api.required(spec, 'What is wanted.'), status: api.optional(status, 'How it stands.') }
const columns = [{ name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' }]

/** The kind: from this follow its type, its CustomResourceDefinition, and how clients address it. */
export const website = runtime.customKind({
  group: 'example.com',
  kind: 'Website',
  doc: 'A website and its servers.',
  shortNames: ['site'],
  versions: { v1: { fields, columns } },
})
export const websites = website.versions.v1
type Status = NonNullable<runtime.ObjectOf<typeof websites>['status']>

/** Which host belongs to which site stands in a ConfigMap that is nobody's: a site is held until its line there is gone. */
const finalizer = 'example.com/hosts'

export const websiteController = runtime
  .controller('website')
  .for(websites)
  .owns(api.deployments)
  .reconcile(async ({ object, name, namespace = '' }, context) => {
    if (object === undefined) return
    const { client } = context
    const fieldManager = `website-${name}`
    const hosts = runtime.newObject(api.configMaps, { metadata: { namespace, name: 'hosts' } })
    if (runtime.isBeingDeleted(object)) {
      await runtime.applyFields(client, api.configMaps, hosts, { fieldManager })
      return void (await runtime.removeFinalizer(client, websites, object, finalizer))
    }
    const site = await runtime.addFinalizer(client, websites, object, finalizer)
    const { host, image, replicas } = site.spec
    await runtime.applyFields(client, api.configMaps, { ...hosts, data: { [host]: name } }, { fieldManager })
    const metadata = { namespace, name, ownerReferences: [runtime.controllerRef(site)] }
    const template = { metadata: { labels: { site: name } }, spec: { containers: [{ name: 'web', image }] } }
    const servers = { metadata, spec: { replicas, selector: { matchLabels: { site: name } }, template } }
    const wanted = runtime.newObject(api.deployments, servers)
    const { status } = await runtime.applyFields(client, api.deployments, wanted, { fieldManager })
    const ready = Math.min(status?.updatedReplicas ?? 0, status?.readyReplicas ?? 0)
    const [state, reason] = ready < replicas ? ['False', 'ServersNotReady'] : ['True', 'AllServersReady']
    const message = `${ready} of ${replicas} servers are ready`
    const condition = { type: 'Ready', status: state, reason, message, observedGeneration: site.metadata.generation }
    const conditions = runtime.setCondition(site.status?.conditions, condition, context.clock.now())
    const plan: runtime.Plan<Status> = { actions: [], status: { conditions } }
    return runtime.performPlan(context, site, plan)
  })
