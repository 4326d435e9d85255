/** For tests of what stands on a `Client`. */
export { createFakeClient, type FakeCall, type FakeClient } from './fake-client.ts'
export { type Widget, widget, widgets } from './resources.ts'
