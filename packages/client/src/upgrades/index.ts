/** Requests that become connections of something else than HTTP: what a server looks at with each request, apart from the protocols that follow. */
export { askedUpgrade, asksForWebSocket } from './asked-upgrade.ts'
export { streamingConnectionsMax, type UpgradedConnection, Upgrades } from './upgrades.ts'
