import { mount } from 'svelte';
import App from './App.svelte';
import './lib/ui/styles/index.css';

mount(App, { target: document.getElementById('app') ?? document.body });
