import { type Exchange, sendJson, sendText } from './exchange.ts'
import { Refusal } from './refusal.ts'

/**
 * `/localVolumes/NAME`: makes the directory of a volume and says where it is (PUT), or removes it with all that is in it (DELETE, with the
 * `path` that it is thought to have). Both may be asked for again. It is no path of upstream's: there volumes are made by drivers on the node.
 */
export async function localVolumes(exchange: Exchange): Promise<void> {
  const { node, parts, query, request } = exchange
  const [, name, ...more] = parts
  if (node.volumes === undefined || name === undefined || more.length > 0) throw new Refusal(404, '404 page not found')
  switch (request.method) {
    case 'PUT':
      return sendJson(exchange, { path: await node.volumes.create(name) })
    case 'DELETE':
      await node.volumes.remove(name, query.get('path') ?? '')
      return sendText(exchange, 200, '')
    default:
      throw new Refusal(405, '405: Method Not Allowed')
  }
}
