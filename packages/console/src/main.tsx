/** Starts the console in the browser. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './app/style.css';
import { App } from './app/App.tsx';
import { applyTheme } from './app/theme.tsx';
import type { ServedBy } from './companion/methods.ts';
import { ErrorNote } from './parts/states.tsx';
import { passOn, RETURN_PATH } from './session/signIn.ts';

applyTheme();
const root = createRoot(document.getElementById('root')!);
if (location.pathname === RETURN_PATH) passOn();
else void start();

async function start(): Promise<void> {
  try {
    const response = await fetch('/console.json');
    if (!response.ok)
      throw new Error(`The console's server answered ${response.status}. Open the link again.`);
    const servedBy = (await response.json()) as ServedBy;
    root.render(
      <StrictMode>
        <App servedBy={servedBy} />
      </StrictMode>,
    );
  } catch (error) {
    root.render(<ErrorNote error={error as Error} retry={() => void start()} />);
  }
}
