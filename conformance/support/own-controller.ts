/** A controller as somebody else writes one, in a process of its own: says of each ConfigMap that it has seen it. */
import { configMaps } from '@coracle/api'
import { connectionOf, createHttpClient, loadKubeconfig } from '@coracle/client'
import { controller, createManager } from '@coracle/controller-runtime'
import { realEnvironment } from '@coracle/environment'

const environment = realEnvironment()
const client = createHttpClient({ ...(await connectionOf(await loadKubeconfig(), environment)), ...environment })
const manager = createManager({ client, environment })
manager.add(
  controller('seen')
    .for(configMaps)
    .reconcile(async ({ name, object }) => {
      if (object?.metadata.labels?.mark !== undefined) environment.logger.info('seen', { name })
      return undefined
    }),
)
await manager.start()
environment.logger.info('started')
