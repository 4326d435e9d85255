import { connect } from '@coracle/client'
import { createManager, ensureCustomKind, runUntilSignal } from '@coracle/controller-runtime'
import { createMetricsRegistry, realEnvironment } from '@coracle/environment'
import { website, websiteController } from './website.ts'

const environment = realEnvironment()
const metrics = createMetricsRegistry()
const client = await connect(environment, { metrics })
await ensureCustomKind(client, website, environment)
const leaderElection = { namespace: 'default', name: 'website-operator' }
const endpoint = { port: Number(process.env.PORT ?? 8080) }
const manager = createManager({ client, environment, metrics, leaderElection, endpoint })
manager.add(websiteController)
await runUntilSignal(manager, environment) // and on until the process is stopped
await client.close()
